import { expect, test } from "vitest";

import { configFiles } from "../../../../runtime/cli/gateways/config-directory.ts";

test.each([
  [{}, "/home/me/.config/weir"],
  [{ XDG_CONFIG_HOME: "/etc/mine" }, "/etc/mine/weir"],
  [{ XDG_CONFIG_HOME: "" }, "/home/me/.config/weir"],
  [{ XDG_CONFIG_HOME: "relative" }, "/home/me/.config/weir"],
])("with %j files are in %s", (environment, directory) => {
  expect(configFiles({ environment, home: "/home/me" })).toEqual({
    directory,
    contexts: `${directory}/contexts.yaml`,
    credentials: `${directory}/credentials.yaml`,
  });
});
