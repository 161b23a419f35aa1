import { play } from './play.ts'

play('F26')
