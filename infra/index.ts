import { readConfig } from "./config.ts";
import { WeirPlatform } from "./platform.ts";
import { makeProviders } from "./providers.ts";

const config = readConfig();
const weir = new WeirPlatform("weir", config, makeProviders("weir", config));

export const { gatewayUrl, publicUrl, adminUser, adminPassword, queues, edition, portForward } = weir;
