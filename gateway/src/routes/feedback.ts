import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'
import { FeedbackCreated } from '@intake/contract/schemas'
import { isLenient, readFeedback, type AcceptFeedback } from '../accept/feedback.ts'
import { multipartOptions } from '../form/feedback-form.ts'
import type { AttachmentRules } from '../form/upload.ts'
import { acceptRoute, type RouteOptions } from './accept-route.ts'

/** Serves `POST /api/feedback`, which accepts a feedback text with up to four images. */
export async function feedbackRoute(
  app: FastifyInstance,
  options: RouteOptions & {
    acceptFeedback: AcceptFeedback
    attachments: AttachmentRules
  },
): Promise<void> {
  const { acceptFeedback, turns, attachments, budget, beforeBody } = options
  await app.register(multipart, multipartOptions(attachments.formBytesMax))

  acceptRoute(app, beforeBody, {
    url: '/api/feedback',
    kind: 'feedback',
    bodyBytesMax: attachments.formBytesMax,
    readsPast: isLenient,
    budget,
    codings: [],
    status: 201,
    schema: FeedbackCreated,
    accept: async (request) =>
      acceptFeedback(request, await readFeedback(request, { turns, attachments })),
  })
}
