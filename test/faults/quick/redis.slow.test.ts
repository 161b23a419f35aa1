import { play } from './play.ts'

play('F24', 'F26')
