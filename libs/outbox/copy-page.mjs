// The dashboard's page is HTML, CSS and JavaScript as it is served; the compiler leaves it where it is.
import { cpSync, rmSync } from 'node:fs';

const page = new URL('dist/ops/dashboard/page/', import.meta.url);
rmSync(page, { recursive: true, force: true });
cpSync(new URL('src/ops/dashboard/page/', import.meta.url), page, { recursive: true });
