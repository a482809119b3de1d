import { describe } from "vitest";

import { accessRulesContract } from "../../../contract/access-rules.contract.ts";
import { MemoryAccessRules } from "../../../support/memory/memory-access-rules.ts";

describe("MemoryAccessRules", () =>
  accessRulesContract(async () => {
    const rules = new MemoryAccessRules();
    const keyOf = ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name: string } }) =>
      `${kind}/${metadata.name}`;
    return {
      rules,
      put: async (manifest) => rules.set(keyOf(manifest), manifest),
      remove: async (manifest) => rules.set(keyOf(manifest), undefined),
      close: async () => {},
    };
  }));
