/** Preloaded as `…?by=<milliseconds>`: shifts the wall clock of this process; timers stay unchanged. */
const by = Number(new URL(import.meta.url).searchParams.get("by"));
const realNow = Date.now;

globalThis.Date = class extends Date {
  static override now(): number {
    return realNow() + by;
  }

  constructor(...parts: ConstructorParameters<DateConstructor> | []) {
    if (parts.length === 0) super(realNow() + by);
    else super(...parts);
  }
} as DateConstructor;
