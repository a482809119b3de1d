import type { DesiredFunction } from "./desired-function.ts";

/** What the provider knows that a function is told. */
export interface FunctionSurroundings {
  /** Where the function reaches the gateway. */
  readonly gatewayUrl: string;
  /** The directory its secrets lie in. */
  readonly secretsDirectory: string;
}

/** The environment of a function on every provider (contract §7); a name that is also in envVars keeps that value. */
export function environmentOf(
  wanted: DesiredFunction,
  { gatewayUrl, secretsDirectory }: FunctionSurroundings,
): Readonly<Record<string, string>> {
  const { name, namespace, deployment } = wanted;
  return {
    ...(deployment.envProcess === undefined ? {} : { fprocess: deployment.envProcess }),
    OPENFAAS_NAME: name,
    OPENFAAS_NAMESPACE: namespace,
    SERVICE_NAME: name,
    SERVICE_NAMESPACE: namespace,
    GATEWAY_URL: gatewayUrl,
    SERVICE_SECRETS_DIR: secretsDirectory,
    ...deployment.envVars,
  };
}
