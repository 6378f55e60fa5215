// Says what it was given on both streams, then waits for a signal or ends with the code that EXIT_CODE names.

process.stdout.write(`arguments ${process.argv.slice(2).join(' ')}\n`);
process.stderr.write(`greeting ${process.env.GREETING ?? 'none'}\n`);

const { EXIT_CODE } = process.env;
if (EXIT_CODE === undefined) setInterval(() => undefined, 60_000);
else process.exitCode = Number(EXIT_CODE);
