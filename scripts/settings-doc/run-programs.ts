import { readFile } from "node:fs/promises";

const scriptsFile = new URL("../../package.json", import.meta.url);

/** A command of package.json that installs what it needs before it runs. */
export interface RunProgram {
  /** As it is typed after `npm run`. */
  readonly name: string;
  /** Its file, below the repository. */
  readonly program: string;
}

/** The commands that `scripts/run` runs. */
export async function runPrograms(): Promise<RunProgram[]> {
  const { scripts } = JSON.parse(await readFile(scriptsFile, "utf8")) as { scripts: Record<string, string> };
  return Object.entries(scripts).flatMap(([name, line]) => {
    const program = /^exec sh scripts\/run (?:--production )?(\S+)$/.exec(line)?.[1];
    return program === undefined ? [] : [{ name, program }];
  });
}

/** The file with the output of `--help`: `help.txt` beside `main.ts`, `help-restore.txt` beside `main-restore.ts`. */
export function helpPage(program: string): string {
  return program.replace(/main([^/]*)\.ts$/, "help$1.txt");
}
