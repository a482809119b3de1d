import { expect, test } from "vitest";

import { StartRefused } from "../../../../runtime/core/replicas/start-refused.ts";

test("a refusal is an error by its own name, with the reason for the status and the sentence for people", () => {
  const refused = new StartRefused({ reason: "ImageInvalid", message: "The image has no command" });
  expect(refused).toBeInstanceOf(Error);
  expect(String(refused)).toBe("StartRefused: The image has no command");
  expect(refused.reason).toBe("ImageInvalid");
});
