import { buildDocument } from "../../runtime/gateway/openapi/build-document.ts";
import { routeTable } from "../../runtime/gateway/rest/route-table.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";
import { apiPage } from "./api-page.ts";

/** The expected files that are generated from the route table. */
export async function apiFiles(): Promise<WrittenFile[]> {
  return Promise.all([
    formattedFile("openapi.json", JSON.stringify(buildDocument(routeTable), undefined, 2)),
    formattedFile("docs/reference/api.md", apiPage(routeTable)),
  ]);
}
