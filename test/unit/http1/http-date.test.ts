import { expect, test } from "vitest";

import { httpDate } from "../../../runtime/http1/http-date.ts";

test("httpDate() follows the clock, forwards and backwards", () => {
  expect(httpDate(1_000_999)).toBe("Thu, 01 Jan 1970 00:16:40 GMT");
  expect(httpDate(1_000_000)).toBe("Thu, 01 Jan 1970 00:16:40 GMT");
  expect(httpDate(1_001_000)).toBe("Thu, 01 Jan 1970 00:16:41 GMT");
  expect(httpDate(999_999)).toBe("Thu, 01 Jan 1970 00:16:39 GMT");
  expect(httpDate(86_400_000)).toBe("Fri, 02 Jan 1970 00:00:00 GMT");
});
