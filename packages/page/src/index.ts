export { page, type PageOptions } from './page.ts'
