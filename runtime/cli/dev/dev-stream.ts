import type { Output } from "../output/output.ts";
import { escapeLine } from "../output/escape-text.ts";

/** Where lines come from that are about no function. */
const ownName = "weir";
const clearScreen = "\u001B[2J\u001B[3J\u001B[H";

/** Everything that happens, as one stream of lines on stdout: what functions log, and what becomes of a save. */
export class DevStream {
  readonly #output: Output;
  #width = ownName.length;
  #showsLogs = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Lines of these functions will follow: names are filled up to the longest. */
  expect(names: readonly string[]): void {
    this.#width = Math.max(this.#width, ...names.map(({ length }) => length));
  }

  /** What happens to a function, or to all; each line of `text` has the name before it. */
  say(text: string, name: string = ownName): void {
    const lines = text.split("\n").map((line) => `${name.padEnd(this.#width)}   ${escapeLine(line)}\n`);
    void this.#write(lines.join(""));
  }

  /** A line that a function logged. */
  async log(name: string, text: string): Promise<void> {
    if (!this.#showsLogs) return;
    // Tabs stay.
    const shown = text.replace(/\n$/, "").split("\t").map(escapeLine).join("\t");
    await this.#write(`${name.padEnd(this.#width)} | ${shown}\n`);
  }

  toggleLogs(): void {
    this.#showsLogs = !this.#showsLogs;
    this.say(this.#showsLogs ? "logs are shown" : "logs are not shown");
  }

  clear(): void {
    void this.#write(clearScreen);
  }

  /** A reader that is gone ends the command by its signal; lines are lost then, as they would be anyway. */
  async #write(text: string): Promise<void> {
    await this.#output.write(text).catch(() => {});
  }
}
