import { expect, test } from "vitest";

import { formatDeclaredQueue, parseDeclaredQueue } from "../../../runtime/settings/declared-queue.ts";

test.each([
  ["mail=5m", { name: "mail", timeout: 300_000 }],
  ["mail=1m30s", { name: "mail", timeout: 90_000 }],
])("%s", (text, queue) => {
  expect(parseDeclaredQueue(text)).toEqual(queue);
  expect(formatDeclaredQueue(queue)).toBe(text);
});

test.each(["mail", "mail=", "=5m", "mail=soon", "mail=5m=6m", "a b=5m"])("not a queue: %s", (text) => {
  expect(parseDeclaredQueue(text)).toBeUndefined();
});
