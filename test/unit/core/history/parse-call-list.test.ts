import { describe, expect, test } from "vitest";

import { listCursor, type CallListParameters } from "../../../../runtime/core/history/list-cursor.ts";
import { parseCallList } from "../../../../runtime/core/history/parse-call-list.ts";

const now = Date.UTC(2026, 0, 31, 12, 0, 0);
const hour = 3_600_000;
const namespaceOf = (name: string | undefined): string =>
  name === undefined || name === "openfaas-fn" ? "functions" : name;
const parse = (parameters: CallListParameters) => parseCallList(parameters, now, namespaceOf);

test("without parameters all calls are listed, 50 at a time", () => {
  const all = { filter: {}, limit: 50 };
  expect(parse({})).toStrictEqual(all);
  const text = { kind: "", state: "", status: "", reason: "", source: "", since: "", until: "", id: "" };
  expect(parse({ ...text, function: "", namespace: "", queue: "", after: "", limit: "" })).toStrictEqual(all);
});

test.each<[CallListParameters, object]>([
  [{ function: "pay" }, { function: { namespace: "functions", name: "pay" } }],
  [{ function: "pay.shop" }, { function: { namespace: "shop", name: "pay" } }],
  [{ function: "pay", namespace: "shop" }, { function: { namespace: "shop", name: "pay" } }],
  [{ function: "pay.openfaas-fn", namespace: "functions" }, { function: { namespace: "functions", name: "pay" } }],
  [{ namespace: "openfaas-fn" }, { namespace: "functions" }],
  [{ queue: "slow" }, { queue: "slow" }],
  [{ kind: "sync" }, { kind: "sync" }],
  [{ state: "failed,unknown,failed" }, { states: ["failed", "unknown"] }],
  [
    { status: "5xx,404" },
    {
      statuses: [
        [500, 599],
        [404, 404],
      ],
    },
  ],
  [{ reason: "exhausted,crash" }, { reasons: ["exhausted", "crash"] }],
  [{ source: "replay" }, { sources: ["replay"] }],
  [{ since: "2h30m" }, { since: now - 2.5 * hour }],
  [
    { since: "7d", until: "1d" },
    { since: now - 168 * hour, until: now - 24 * hour },
  ],
  [{ since: "2026-01-31T13:00:00.25+02:00" }, { since: now - hour + 250 }],
  [
    { since: "1h", until: "1h" },
    { since: now - hour, until: now - hour },
  ],
  [{ since: "1h" }, { since: now - hour }],
  [{ until: "1h" }, { until: now - hour }],
  [{ id: "7F3C1D52-5c0e" }, { idPrefix: "7f3c1d525c0e" }],
])("%j", (parameters, filter) => {
  expect(parse(parameters)).toEqual({ filter, limit: 50 });
});

test("the limit is from 1 to 500", () => {
  expect([parse({ limit: "1" }).limit, parse({ limit: 500 }).limit]).toEqual([1, 500]);
});

test.each<[CallListParameters, string]>([
  [
    { state: "lost" },
    'Cannot read state "lost": expected queued, running, waiting, done, failed, cancelled or unknown',
  ],
  [{ state: "failed," }, 'Cannot read state "": expected queued, '],
  [{ kind: "queued" }, 'Cannot read kind "queued": expected async or sync'],
  [{ status: "9xx" }, 'Cannot read status "9xx": expected a status from 100 to 599 or a class such as 5xx'],
  [{ status: "600" }, 'Cannot read status "600"'],
  [{ status: "15xx" }, 'Cannot read status "15xx"'],
  [{ status: "5xxx" }, 'Cannot read status "5xxx"'],
  [{ status: "404,1404" }, 'Cannot read status "1404"'],
  [{ status: "4044" }, 'Cannot read status "4044"'],
  [{ reason: "it's" }, 'Cannot read reason "it\'s": expected a word such as exhausted'],
  [{ source: "cron" }, 'Cannot read source "cron": expected http or replay'],
  [{ limit: "0" }, 'Cannot read limit "0": expected a whole number from 1 to 500'],
  [{ limit: "501" }, 'Cannot read limit "501"'],
  [{ limit: "1.5" }, 'Cannot read limit "1.5"'],
  [
    { since: "yesterday" },
    'Cannot read since "yesterday": expected a time such as 2026-01-31T12:00:00Z, or a duration back such as 2h30m',
  ],
  [{ since: "2026-02-30T12:00:00Z" }, 'Cannot read since "2026-02-30T12:00:00Z"'],
  [{ since: "2026-01-31T12:00:00" }, 'Cannot read since "2026-01-31T12:00:00"'],
  [{ since: "1h7d" }, 'Cannot read since "1h7d"'],
  [{ since: "7d1h" }, 'Cannot read since "7d1h"'],
  [{ until: "tomorrow" }, 'Cannot read until "tomorrow": expected a time such as'],
  [{ since: "1h", until: "2h" }, 'Cannot read until "2h": expected a time after since "1h"'],
  [{ id: "xyz" }, 'Cannot read id "xyz": expected the first 4 to 32 hexadecimal digits of an id'],
  [{ id: "7f3" }, 'Cannot read id "7f3"'],
  [{ id: "call7f3c1d52" }, 'Cannot read id "call7f3c1d52"'],
  [{ id: "7f3c1d52.log" }, 'Cannot read id "7f3c1d52.log"'],
  [{ id: "0".repeat(33) }, 'Cannot read id "000'],
  [{ function: "Pay" }, 'Cannot read function "Pay": expected name or name.namespace of a function'],
  [{ function: "pay.Shop" }, 'Cannot read function "pay.Shop": expected name or name.namespace of a function'],
  [{ function: "pay." }, 'Cannot read function "pay."'],
  [{ function: "pay.shop.eu" }, 'Cannot read function "pay.shop.eu"'],
  [
    { function: "pay.shop", namespace: "other" },
    'Cannot read namespace "other": expected that of function "pay.shop", or none',
  ],
  [{ namespace: "a.b" }, 'Cannot read namespace "a.b"'],
  [{ queue: "no queue" }, 'Cannot read queue "no queue"'],
  [{ after: "!" }, 'Cannot read after "!": expected `next` of a page before'],
  [
    { after: Buffer.from("1.2.3").toString("base64url") },
    'Cannot read after "MS4yLjM": expected `next` of a page before',
  ],
])("%j is refused with what is expected", (parameters, sentence) => {
  expect(() => parse(parameters)).toThrow(
    expect.objectContaining({ code: "validation_failed", message: expect.stringContaining(sentence) }),
  );
});

describe("the place after which a page begins", () => {
  const place = { accepted: now, id: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10" };

  test("is read as it was written, whatever the length of the page", () => {
    const filter = { function: "pay", state: "failed", since: "1h" };
    const after = listCursor({ ...filter, limit: "10", after: "another" }, place);
    expect(parse({ ...filter, limit: "20", after }).after).toEqual(place);
    expect(parse({ since: "1h", state: "failed", queue: "", function: "pay", after }).after).toEqual(place);
    expect(after).toMatch(/^[\w-]+$/);
  });

  test("is refused with another filter", () => {
    const after = listCursor({ state: "failed" }, place);
    for (const other of [{ state: "done" }, {}, { state: "failed", kind: "async" }]) {
      expect(() => parse({ ...other, after })).toThrow("expected `next` of a page with the same filter");
    }
  });

  test("is refused with anything before or behind it", () => {
    const text = Buffer.from(listCursor({}, place), "base64url").toString();
    for (const other of [`-${text}`, `${text}-`, `${text}\n`]) {
      const after = Buffer.from(other).toString("base64url");
      expect(() => parse({ after }), other).toThrow("expected `next` of a page before");
    }
  });

  test("is refused if its time is none", () => {
    const [, id, digest] = Buffer.from(listCursor({}, place), "base64url").toString().split(".");
    const after = Buffer.from(`zzzzzzzzzzz.${id}.${digest}`).toString("base64url");
    expect(() => parse({ after })).toThrow("expected `next` of a page before");
  });
});
