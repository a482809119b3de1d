import { readConfig } from "./config.ts";
import { WeirPlatform } from "./platform.ts";

const weir = new WeirPlatform("weir", readConfig());

export const { gatewayUrl, publicUrl, consoleUrl, adminUser, adminPassword, queues, edition, portForward } = weir;
