import { readHelp } from '../help-pages.ts'
import { PageError } from '../page-error.ts'
import { helpView } from '../views/help.ts'
import type { ViewContext } from './context.ts'

/** `GET /help/<name>`: the documentation, also while ClickHouse is away. */
export function helpRoutes({ view }: ViewContext): void {
  view(
    '/help/*',
    async ({ params, header }) => {
      const name = params['*'] ?? ''
      const page = await readHelp(name)
      if (page === undefined)
        throw new PageError(404, 'There is no such page in the documentation of this installation.')
      return helpView(header, name, page)
    },
    { isUrgent: true },
  )
}
