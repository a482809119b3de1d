import { expect, test } from "vitest";

import { commentText, eventText, eventStreamType } from "../../../../runtime/core/watch/event-text.ts";

/** https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
test("an event is two lines and an empty one, whatever its data holds", () => {
  expect(eventText("fault", { on: "log:dev:a", code: "forbidden", detail: "one\ntwo\r\n" })).toBe(
    'event: fault\ndata: {"on":"log:dev:a","code":"forbidden","detail":"one\\ntwo\\r\\n"}\n\n',
  );
});

test("a sign of life is a comment, which no reader takes for an event", () => {
  expect(commentText).toBe(":\n\n");
  expect(eventStreamType).toBe("text/event-stream");
});
