/**
 * What `npm start` runs. The help is answered from here, because a clone in which nothing is installed or built yet has no
 * launcher that could answer; everything else is the launcher's, in this same process.
 */
import { asksForHelp, usage } from './settings.mjs';

if (asksForHelp(process.argv.slice(2))) process.stdout.write(usage());
else await import('./dist/main.js');
