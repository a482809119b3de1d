import type { ComponentType } from "preact";

import type { PageGroup } from "./data/address/match-page.ts";

/** What a page gets of its path. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

/** The pages of a group, by name. */
export type Pages = Readonly<Record<string, ComponentType<PageProps>>>;

/** Every page of the console by its path. A group is one script, loaded when the first of its pages is opened. */
export const pageTable: readonly PageGroup<Pages>[] = [
  {
    paths: { "/ui/": "overview" },
    load: async () => (await import("./pages/overview/overview-pages.ts")).overviewPages,
  },
  {
    paths: {
      "/ui/new": "new",
      "/ui/f/:namespace/:name": "status",
      "/ui/f/:namespace/:name/edit": "edit",
      "/ui/f/:namespace/:name/try": "try",
      "/ui/f/:namespace/:name/logs": "logs",
      "/ui/f/:namespace/:name/scaling": "scaling",
    },
    load: async () => (await import("./pages/functions/function-pages.ts")).functionPages,
  },
  {
    paths: { "/ui/calls": "list", "/ui/calls/:id": "call" },
    load: async () => (await import("./pages/calls/call-pages.ts")).callPages,
  },
  {
    paths: { "/ui/queues": "list", "/ui/queues/:name": "queue", "/ui/dead-letters": "letters" },
    load: async () => (await import("./pages/queues/queue-pages.ts")).queuePages,
  },
  {
    paths: { "/ui/secrets": "list" },
    load: async () => (await import("./pages/secrets/secret-pages.ts")).secretPages,
  },
  {
    paths: { "/ui/namespaces": "list" },
    load: async () => (await import("./pages/namespaces/namespace-pages.ts")).namespacePages,
  },
  {
    paths: { "/ui/system": "system" },
    load: async () => (await import("./pages/system/system-pages.ts")).systemPages,
  },
  {
    paths: { "/ui/access": "access", "/ui/audit": "audit" },
    load: async () => (await import("./pages/access/access-pages.ts")).accessPages,
  },
];
