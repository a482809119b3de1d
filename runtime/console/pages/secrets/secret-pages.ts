import type { Pages } from "../../page-table.ts";
import { SecretsPage } from "./secrets-page.tsx";

/** The page of secrets. */
export const secretPages: Pages = { list: SecretsPage };
