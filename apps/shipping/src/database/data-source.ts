import { readEnvironment } from 'sample-support';
import { DataSource } from 'typeorm';
import { Environment } from '../environment.js';
import { dataSourceOptions } from './data-source-options.js';

// For TypeORM's command line: npx typeorm migration:run -d apps/shipping/dist/database/data-source.js
export default new DataSource(dataSourceOptions(readEnvironment(Environment, process.env).DATABASE_URL));
