import { play } from './play.ts'

play('F21', 'F24')
