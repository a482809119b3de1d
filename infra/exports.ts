export { checkConfig, type StackConfig } from "./check-config.ts";
export type { ClusterArgs } from "./cluster.ts";
export { Function, type FunctionArgs } from "./components/function.ts";
export { FunctionNamespace, type FunctionNamespaceArgs } from "./components/function-namespace.ts";
export { FunctionSecret, type FunctionSecretArgs } from "./components/function-secret.ts";
export { readConfig } from "./config.ts";
export { WeirPlatform } from "./platform.ts";
export type { WeirPlatformArgs } from "./weir-platform-args.ts";
