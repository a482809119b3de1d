import type { RuleSet, TrustedIssuer } from "../../../core/access/rule-set.ts";
import type { AccessRules } from "../../../core/ports/access-rules.ts";
import type { Log } from "../../../process/log.ts";
import type { TrustedKeys } from "./trusted-keys.ts";

/** What is read, and where that is noted. */
export interface KeyReportParts {
  readonly keys: Pick<TrustedKeys, "check">;
  readonly rules: AccessRules;
  readonly inForce: () => RuleSet;
  readonly log: Log;
}

/** Milliseconds between two looks at all issuers. */
const interval = 60_000;

/** Notes, at once and from time to time, whether the keys of each issuer can be read, before somebody's token needs them. */
export class KeyReports {
  readonly #parts: KeyReportParts;
  readonly #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(parts: KeyReportParts) {
    this.#parts = parts;
    if (parts.rules.reportKeys !== undefined) this.#timer = setInterval(() => this.look(), interval).unref();
  }

  /** Looks at all issuers, unless it does so already. */
  look(): void {
    const { rules, inForce } = this.#parts;
    if (rules.reportKeys === undefined || this.#isRunning) return;
    this.#isRunning = true;
    const issuers = [...inForce().issuers.values()];
    void Promise.all(issuers.map((issuer) => this.#report(issuer))).finally(() => (this.#isRunning = false));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #report(issuer: TrustedIssuer): Promise<void> {
    const { keys, rules, log } = this.#parts;
    try {
      const fault = await keys.check(issuer);
      const sentence = fault instanceof Error ? fault.message : "its keys cannot be read";
      await rules.reportKeys?.(issuer.name, fault === undefined ? undefined : sentence);
    } catch (err) {
      log.debug({ err, issuer: issuer.name }, "cannot note whether keys of issuer are available");
    }
  }
}
