import { once } from "node:events";
import type { Writable } from "node:stream";

import type { Terminal } from "../terminal.ts";
import { formatTable, type Column } from "./format-table.ts";

/** Values of `-o`. */
export const outputFormats = ["table", "json", "yaml", "name"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** A list as the API returned it, and how it is shown as a table. */
export interface ShownList<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What `-o name` prints of a row. */
  readonly name: (row: Row) => string;
}

/** The two streams of a command: results go to stdout, everything else to stderr. */
export class Output {
  readonly format: OutputFormat;
  readonly #quiet: boolean;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, format: OutputFormat, quiet: boolean) {
    this.#terminal = terminal;
    this.format = format;
    this.#quiet = quiet;
  }

  /** Writes a list by `-o`: JSON and YAML are the API's own, one document. */
  async list<Row>({ rows, columns, name }: ShownList<Row>): Promise<void> {
    switch (this.format) {
      case "table":
        return this.write(formatTable(columns, rows, this.#terminal.columns()));
      case "name":
        return this.write(rows.map((row) => `${name(row)}\n`).join(""));
      case "json":
      case "yaml":
        return this.document(rows);
      default:
        return this.format satisfies never;
    }
  }

  /** Writes one value by `-o`; `text` is what people see, `name` what `-o name` prints. */
  async value(value: unknown, { text, name }: { readonly text: () => string; readonly name: string }): Promise<void> {
    if (this.format === "table") return this.write(text());
    return this.format === "name" ? this.write(`${name}\n`) : this.document(value);
  }

  /** Writes `value` as one JSON or YAML document. */
  async document(value: unknown): Promise<void> {
    if (this.format !== "yaml") return this.write(`${JSON.stringify(value, undefined, 2)}\n`);
    const { stringify } = await import("yaml");
    return this.write(stringify(value));
  }

  /** Writes to stdout as it is; resolves when the reader keeps up. */
  async write(data: string | Uint8Array): Promise<void> {
    await writeTo(this.#terminal.stdout, data);
  }

  /** One line on stderr about what was done or is going on; not with `-q`. */
  note(line: string): void {
    if (!this.#quiet) this.#terminal.stderr.write(`${line}\n`);
  }

  /** One line on stderr that `-q` does not suppress. */
  warn(line: string): void {
    this.#terminal.stderr.write(`${line}\n`);
  }
}

async function writeTo(stream: Writable, data: string | Uint8Array): Promise<void> {
  if (data.length > 0 && !stream.write(data)) await once(stream, "drain");
}
