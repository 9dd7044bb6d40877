import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Lets a thread run the sources as they are: the runtime takes the types out, but imports name what the build makes. */
registerHooks({
  resolve(specifier, context, next) {
    const lib = /^@berth\/([^/]+)$/.exec(specifier)?.[1];
    if (lib !== undefined) return next(new URL(`../../../../libs/${lib}/src/index.ts`, import.meta.url).href, context);
    const source = specifier.replace(/\.js$/, '.ts');
    const isSource = specifier.startsWith('.') && existsSync(new URL(source, context.parentURL));
    return next(isSource ? source : specifier, context);
  },
});
