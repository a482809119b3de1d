const dateTime = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;

/**
 * Unix milliseconds of a time such as `2026-01-31T12:00:00Z` (RFC 3339); undefined when it is none. A time without an
 * offset is UTC if `offset` says that it may be absent.
 */
export function parseDateTime(text: string, offset: "required" | "optional"): number | undefined {
  const [, date, time, fraction = "", zone] = dateTime.exec(text) ?? [];
  if (zone === undefined && offset === "required") return undefined;
  const local = `${date}T${time}`;
  const precise = `${local}.${fraction.slice(0, 3).padEnd(3, "0")}`;
  const atUtc = Date.parse(`${precise}Z`);
  const at = zone === undefined ? atUtc : Date.parse(`${precise}${zone.toUpperCase()}`);
  // Date.parse moves a date such as 30 February, so the result must be the date that was sent.
  if (Number.isNaN(at) || !new Date(atUtc).toISOString().startsWith(local)) return undefined;
  return at;
}
