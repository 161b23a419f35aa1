type NavigatorLike = Navigator & {
  userAgentData?: {
    getHighEntropyValues(names: string[]): Promise<{ model?: string; platformVersion?: string }>
  }
}

const systems = /Android|iPhone|iPad|Windows|CrOS|Mac|Linux(?!.*Android)/

/** Reads what a page can find out about its device without asking the user. */
export const readDevice = async (): Promise<Record<string, unknown>> => {
  const { userAgent, userAgentData, language } = navigator as NavigatorLike
  const [os] = systems.exec(userAgent) || []
  const device: Record<string, unknown> = { os, language, user_agent: userAgent }
  try {
    // Some browsers do not have these hints, and a page's policy can forbid them.
    const hints = await userAgentData!.getHighEntropyValues(['model', 'platformVersion'])
    device['device_model'] = hints.model
    device[os === 'Android' ? 'android_version' : 'os_version'] = hints.platformVersion
  } catch {
    // Properties that are not known are left out.
  }
  return device
}
