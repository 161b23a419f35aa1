import { play } from './play.ts'

play('a1')
