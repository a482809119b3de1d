import { expect, test } from "vitest";

import { formatBanner, type BannerFacts } from "../../../runtime/host/banner.ts";

const facts: BannerFacts = {
  url: "http://127.0.0.1:8080",
  adminUrl: "http://127.0.0.1:8082",
  user: "admin",
  passwordFile: ".weir/credentials/basic-auth-password",
  edition: "enterprise",
  provider: "local",
  isolation: "no isolation",
  durability: "interval",
  store: { bytes: 190_000_000, calls: 19_000 },
  setAside: [],
};

test("the banner says where the console is, if there is one", () => {
  const consoleUrl = "http://127.0.0.1:8081/ui/";
  expect(formatBanner({ ...facts, consoleUrl })).toContain(
    "  address     http://127.0.0.1:8080\n  console     http://127.0.0.1:8081/ui/\n  admin       http://127.0.0.1:8082\n",
  );
  expect(formatBanner(facts)).not.toContain("console");
});

test("the banner says why functions are processes when that was not chosen", () => {
  const withoutEngine = 'Cannot reach the container engine at "/var/run/docker.sock": there is none';
  expect(formatBanner({ ...facts, withoutEngine })).toContain(
    `  provider    local\n  engine      none: ${withoutEngine}\n  isolation   no isolation\n`,
  );
  expect(formatBanner(facts)).toContain("  provider    local\n  isolation   no isolation\n");
});
