import type { RoutePlugin } from "../route-plugin.ts";

/** Says that the process answers. */
export const healthRoutes: RoutePlugin = async (app) => {
  app.get("/healthz", async (_request, reply) => reply.send());
};
