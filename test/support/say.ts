/** Tells the person at the terminal, past what the test runner collects. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);
