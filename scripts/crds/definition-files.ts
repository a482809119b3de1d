import { stringify } from "yaml";

import {
  customResourceDefinition,
  definitionName,
} from "../../infra/manifests/definitions/custom-resource-definitions.ts";
import { customResources, type CustomResource } from "../../runtime/api/resources/custom-resources.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";
import { resourcesPage } from "./resources-page.ts";

/** The expected files that are generated from the schemas of the custom resources. */
export async function definitionFiles(): Promise<WrittenFile[]> {
  const definitions = Object.values<CustomResource>(customResources).map((resource) => {
    const text = stringify(customResourceDefinition(resource), { lineWidth: 0, aliasDuplicateObjects: false });
    const note = "# Written by `npm run crds` from runtime/api; change it there.\n";
    return formattedFile(`infra/crds/${definitionName(resource)}.yaml`, note + text);
  });
  return Promise.all([...definitions, formattedFile("docs/reference/custom-resources.md", resourcesPage())]);
}
