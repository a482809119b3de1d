let text = "";
let until = 0;

/** The value of `Date` (RFC 9110 §6.6.1), formatted once a second. */
export function httpDate(now = Date.now()): string {
  if (now >= until || now < until - 1_000) {
    text = new Date(now).toUTCString();
    until = now - (now % 1_000) + 1_000;
  }
  return text;
}
