import { play } from './play.ts'

play('b1', 'd1', 'f1')
