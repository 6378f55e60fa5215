import { Get, Inject, NotFoundException, Param, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ResolvedDashboardOptions } from '../dashboard-options.js';
import { OPTIONS } from '../dashboard-services.js';
import { PageFiles } from '../page-files.js';
import { Replies } from './replies.js';

/** The page and its files. They hold no data, but whoever may not see the data need not see the page either. */
export class PageController {
  constructor(
    @Inject(PageFiles) private readonly files: PageFiles,
    @Inject(Replies) private readonly replies: Replies,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(OPTIONS) private readonly options: ResolvedDashboardOptions,
  ) {}

  @Get()
  page(@Req() request: unknown, @Res() response: unknown): void {
    this.replies.file(response, 'text/html; charset=utf-8', this.files.page(this.folderAsSeenFrom(request)));
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Res() response: unknown): void {
    const file = this.files.asset(name);
    if (file === undefined) throw new NotFoundException('There is no such file.');
    this.replies.file(response, file.contentType, file.text);
  }

  /** Relative, because only the browser knows what proxies and prefixes are before the path. */
  private folderAsSeenFrom(request: unknown): string {
    const url: unknown = this.host.httpAdapter.getRequestUrl(request);
    const [path = ''] = String(url).split('?');
    return path.endsWith('/') ? './' : `./${this.options.path.split('/').at(-1)}/`;
  }
}
