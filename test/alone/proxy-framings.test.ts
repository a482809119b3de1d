import { describe, expect, test } from "vitest";

import { countFramings } from "../support/count-framings.ts";
import { lastCall, randomFramings, type Framing } from "../support/framings.ts";
import { noProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { malformedChunks, malformedRequests, refusedRequests, withTarget } from "../support/raw-requests.ts";

const routes = ["/function/echo", "/async-function/echo", "/system/info"] as const;

/** Every row on every route, each followed by a call. */
const rows: readonly Framing[] = routes.flatMap((route) => {
  const chunked = `POST ${route} HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return [
    ...malformedRequests.map(([, bytes]) => withTarget(bytes, route)),
    ...refusedRequests(route).map(([, , bytes]) => bytes),
    ...malformedChunks.map(([, chunks]) => chunked + chunks),
  ].map((bytes, index) => ({ name: `row${index}`, pieces: [bytes, lastCall(`row${index}`)] }));
});

for (const kind of proxyKinds) {
  describe.skipIf(noProxy(kind) !== undefined)(`${kind} counts the same requests as Weir`, () => {
    test("in 100 well-formed requests in one write", async () => {
      const hidden = "GET /function/echo/hidden HTTP/1.1\r\nHost: g\r\n\r\n";
      const requests = Array.from(
        { length: 100 },
        (_, index) =>
          `POST /function/echo/${index} HTTP/1.1\r\nHost: g\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      );
      const framing = { name: "pipelined", pieces: [requests.join("") + lastCall("pipelined")] };
      expect(await countFramings(kind, [framing])).toMatchObject({ read: 101, sent: 101, differences: [] });
    });

    test("in requests that break the rules", async () => {
      const { read, differences } = await countFramings(kind, rows);
      expect(differences.join("\n")).toBe("");
      expect(read).toBeGreaterThanOrEqual(rows.length);
    });

    test("in 1000 random framings", async () => {
      const { sent, differences } = await countFramings(kind, randomFramings(1, 1_000));
      expect(differences.join("\n")).toBe("");
      expect(sent).toBeGreaterThan(700);
    });
  });
}
