import { KubeConfig } from '@kubernetes/client-node';
import { cleanText } from '@berth/domain';

const WORDS_MAX = 500;

/**
 * The way to the cluster: of a file, or with `null` the service account of the Pod that this process is in.
 *
 * @throws Error saying why there is none; it quotes no credentials
 */
export function readKubeConfig(path: string | null): KubeConfig {
  const config = new KubeConfig();
  try {
    if (path === null) config.loadFromCluster();
    else config.loadFromFile(path);
  } catch (error) {
    throw new Error(cleanText((error as Error).message, WORDS_MAX), { cause: error });
  }
  // Outside of a Pod the library makes an address of variables that are not there.
  if (!URL.canParse(config.getCurrentCluster()?.server ?? ''))
    throw new Error(path === null ? 'this process is in no Pod' : 'it names no cluster');
  return config;
}
