import { describe } from "vitest";

import { MemoryEndpoints } from "../../../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";
import { MemoryLogSource } from "../../../support/memory/memory-log-source.ts";
import { MemoryNamespaceStore } from "../../../support/memory/memory-namespace-store.ts";
import { MemoryReplicas } from "../../../support/memory/memory-replicas.ts";
import { MemorySecretStore } from "../../../support/memory/memory-secret-store.ts";
import { endpointsContract } from "../../../contract/endpoints.contract.ts";
import { functionStoreContract } from "../../../contract/function-store.contract.ts";
import { logSourceContract } from "../../../contract/log-source.contract.ts";
import { namespaceStoreContract } from "../../../contract/namespace-store.contract.ts";
import { replicasContract } from "../../../contract/replicas.contract.ts";
import { secretStoreContract } from "../../../contract/secret-store.contract.ts";

const close = async (): Promise<void> => {};

describe("MemoryFunctionStore", () => functionStoreContract(async () => ({ store: new MemoryFunctionStore(), close })));

describe("MemoryNamespaceStore", () =>
  namespaceStoreContract(async () => ({ store: new MemoryNamespaceStore(), close })));

describe("MemoryEndpoints", () =>
  endpointsContract(async () => {
    const endpoints = new MemoryEndpoints();
    return { endpoints, publisher: endpoints, close };
  }));

describe("MemorySecretStore", () =>
  secretStoreContract(async () => {
    const store = new MemorySecretStore();
    return { store, valueOf: async (ref) => store.valueOf(ref), close };
  }));

describe("MemoryLogSource", () =>
  logSourceContract(async () => {
    const source = new MemoryLogSource();
    return {
      source,
      write: async (ref, instance, text) => source.write(ref, instance, text),
      writeError: async (ref, instance, text) => source.write(ref, instance, text, undefined, "stderr"),
      removeReplica: async (ref, instance) => source.removeReplica(ref, instance),
      close,
    };
  }));

describe("MemoryReplicas", () =>
  replicasContract(async () => {
    const replicas = new MemoryReplicas();
    return {
      replicas,
      end: async ({ id }) => replicas.exit(id, { reason: "Error", message: "It ended" }),
      close: () => replicas.close(),
    };
  }));
