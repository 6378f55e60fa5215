import 'reflect-metadata';
import { startShipping } from './crash-shipping.js';

// The receiving application on DATABASE, whose tables are there, in a process of its own. Says `listens <url>`.

const app = await startShipping({ database: process.env.DATABASE, applicationName: 'doomed', makeTables: false });
process.stdout.write(`listens ${await app.getUrl()}\n`);
