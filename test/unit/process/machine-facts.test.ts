import { expect, test } from "vitest";

import { toolEnvironment } from "../../../runtime/process/machine-facts.ts";

test("tools get what leads to their registries, and nothing else", () => {
  const passed = {
    PATH: "/bin",
    https_proxy: "http://proxy:3128",
    ALL_PROXY: "socks5://proxy",
    NODE_EXTRA_CA_CERTS: "/etc/acme.pem",
    PIP_INDEX_URL: "https://packages.acme.example/simple",
    npm_config_registry: "https://packages.acme.example",
    "NPM_CONFIG_@acme:registry": "https://packages.acme.example",
    GOFLAGS: "-mod=mod",
  };
  const own = {
    npm_config_cache: "/home/ada/.npm",
    npm_config_userconfig: "/home/ada/.npmrc",
    PIP_TARGET: "/srv",
    DATABASE_URL: "postgres://",
    HOME: "/home/ada",
    NODE_OPTIONS: "--require ./x",
    GOPATH: undefined,
  };
  expect(toolEnvironment({ ...passed, ...own })).toEqual(passed);
});
