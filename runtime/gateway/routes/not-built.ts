import { PlatformError } from "../../api/platform-error.ts";
import type { RoutePlugin } from "../route-plugin.ts";
import { routeTable } from "../route-table.ts";

/** The parts of the contract that this version does not have yet: each says so. */
export const notBuiltRoutes: RoutePlugin = async (app) => {
  for (const { method, path, built } of routeTable) {
    if (built) continue;
    app.route({
      method,
      url: path,
      handler: async () => {
        throw new PlatformError("not_built", `Cannot answer ${method} ${path}: it is not built yet`);
      },
    });
  }
};
