import { expect, test } from "vitest";

import { checkFetchSite } from "../../../../runtime/gateway/access/check-origin.ts";

const pages = new Set(["https://app.example"]);
const passes = (site: string | undefined, origin?: string): boolean => {
  try {
    checkFetchSite(site, origin, { pages });
    return true;
  } catch (err) {
    expect(err).toMatchObject({ code: "cross_origin" });
    return false;
  }
};

test("programs and address bars pass, pages only from allowed_origins", () => {
  expect(passes(undefined)).toBe(true);
  expect(passes("none")).toBe(true);
  for (const site of ["same-origin", "same-site", "cross-site", ""]) {
    expect(passes(site)).toBe(false);
    expect(passes(site, "http://127.0.0.1:8080")).toBe(false);
    expect(passes(site, "https://App.example")).toBe(true);
  }
});
