import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { historyAuthorization } from "../../api/schemas/history/history-wire.ts";
import { historyFile } from "../../settings/history-settings.ts";

/** The key of the history's API. */
export class ApiKey {
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, historyFile.key);
  }

  /** Whether a request with this `Authorization` may be answered; the file is read each time, as it may be replaced. */
  async admits(authorization: string | undefined): Promise<boolean> {
    const expected = historyAuthorization(await this.read());
    return timingSafeEqual(digest(authorization ?? ""), digest(expected));
  }

  /** @throws Error when there is none */
  async read(): Promise<string> {
    const key = (await readFile(this.#file, "utf8").catch(() => "")).trim();
    if (key === "") throw new Error(`Cannot serve the history: key file "${this.#file}" is missing or empty`);
    return key;
  }
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
