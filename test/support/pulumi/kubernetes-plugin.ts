import { KubernetesProvider } from "./kubernetes-provider.ts";
import { serveProvider } from "./serve-provider.ts";

serveProvider(new KubernetesProvider());
