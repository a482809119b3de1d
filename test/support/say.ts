/** Writes a line to stderr, past what the test runner collects. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);
