import type { FunctionOfPage } from "../../data/functions/function-of-page.ts";
import type { PageProps } from "../../page-table.ts";

/** The function that a page's path names. */
export function namedOf({ namespace = "", name = "" }: PageProps["params"]): FunctionOfPage {
  return { namespace, name };
}
