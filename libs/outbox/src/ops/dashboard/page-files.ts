import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

const FOLDER = new URL('./page/', import.meta.url);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

export interface Asset {
  readonly contentType: string;
  readonly text: string;
}

/** The files of the page, read once; what is not among them is not served, whatever a request names. */
export class PageFiles {
  private readonly html = readFileSync(new URL('index.html', FOLDER), 'utf8');
  private readonly assets = new Map<string, Asset>(
    readdirSync(FOLDER).flatMap((name) => {
      const contentType = CONTENT_TYPES[extname(name)];
      return contentType === undefined
        ? []
        : [[name, { contentType, text: readFileSync(new URL(name, FOLDER), 'utf8') }]];
    }),
  );

  /** @param folder where the browser finds `assets/`, with a slash at its end; not from the request. */
  page(folder: string): string {
    return this.html.replaceAll('{{folder}}', folder);
  }

  asset(name: string): Asset | undefined {
    return this.assets.get(name);
  }
}
