import type { Writable } from "node:stream";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import type { Terminal } from "../terminal.ts";
import { colourState } from "./colour.ts";
import { documentParts } from "./document-parts.ts";
import { escapeLine, escapeText } from "./escape-text.ts";
import { formatTable, type Column } from "./format-table.ts";
import { errorMessage } from "../error-message.ts";

/** Values of `-o`. */
export const outputFormats = ["table", "json", "yaml", "name"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Characters of a document that are written at once, and those of one element more. */
const partLength = 65_536;

/** A list of the API, and how it is shown. */
export interface ShownList<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What `-o name` prints of a row. */
  readonly name: (row: Row) => string;
  /** What JSON and YAML have of a row; by default the row itself. */
  readonly element?: (row: Row) => unknown;
}

export interface OutputOptions {
  readonly format: OutputFormat;
  /** Notes are not written. */
  readonly quiet: boolean;
  /** States are coloured. */
  readonly colour: boolean;
}

/** The two streams of a command: results go to stdout, everything else to stderr. */
export class Output {
  readonly format: OutputFormat;
  readonly #quiet: boolean;
  readonly #colour: boolean;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, { format, quiet, colour }: OutputOptions) {
    this.#terminal = terminal;
    this.format = format;
    this.#quiet = quiet;
    this.#colour = colour;
  }

  /** Writes a list by `-o`: JSON and YAML are the API's own, one document. */
  async list<Row>({ rows, columns, name, element }: ShownList<Row>): Promise<void> {
    switch (this.format) {
      case "table":
        return this.write(this.table(columns, rows));
      case "name":
        return this.write(rows.map((row) => nameLine(name(row))).join(""));
      case "json":
      case "yaml":
        return this.document(element === undefined ? rows : rows.map(element));
      default:
        return this.format satisfies never;
    }
  }

  /** Writes one value by `-o`; `text` is what people see, `name` what `-o name` prints. */
  async value(value: unknown, { text, name }: { readonly text: () => string; readonly name: string }): Promise<void> {
    if (this.format === "table") return this.write(text());
    return this.format === "name" ? this.write(nameLine(name)) : this.document(value);
  }

  /** Writes `value` as one JSON or YAML document. */
  async document(value: unknown): Promise<void> {
    let text = "";
    for await (const part of documentParts(value, this.format === "yaml" ? "yaml" : "json")) {
      text += part;
      if (text.length < partLength) continue;
      await this.write(text);
      text = "";
    }
    await this.write(text);
  }

  /** A state such as `Ready`, in its colour where there are colours. */
  state(text: string): string {
    return this.#colour ? colourState(text) : text;
  }

  /** Rows as people see them on this terminal. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
    return formatTable(columns, rows, { width: this.#terminal.columns(), colour: this.#colour });
  }

  /**
   * Writes to stdout as it is; resolves when it is written.
   * @throws CliError when it cannot be
   */
  async write(data: string | Uint8Array): Promise<void> {
    if (data.length > 0) await writeTo(this.#terminal.stdout, data);
  }

  /** One line on stderr about what was done or is going on; not with `-q`. */
  note(line: string): void {
    if (!this.#quiet) this.#terminal.stderr.write(`${escapeText(line)}\n`);
  }

  /** One line on stderr that `-q` does not suppress. */
  warn(line: string): void {
    this.#terminal.stderr.write(`${escapeText(line)}\n`);
  }
}

/** One name is one line, whatever a gateway says: no name of the API has a character that is escaped. */
function nameLine(name: string): string {
  return `${escapeLine(name)}\n`;
}

async function writeTo(stream: Writable, data: string | Uint8Array): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      stream.write(data, (err) => (err ? reject(err) : resolve()));
    });
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new CliError(exitCode.failed, `Cannot write the result: ${reason}`, { cause });
  }
}
