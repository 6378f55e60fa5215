import 'reflect-metadata';
import { runProgram } from './program.js';
import { processTerminal } from './terminal.js';

const exitCode = await runProgram(process.argv.slice(2), processTerminal());
// What a configuration file has opened must not keep the process; what was written goes out first.
process.stdout.write('', () => process.exit(exitCode));
