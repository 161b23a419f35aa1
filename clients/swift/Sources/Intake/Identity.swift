/// The fields of every request that describe its sender: the application, the device and the user.
final class Identity {
  /// Empty until it is known.
  var deviceUuid: String
  /// The properties of the battery, by name; each value is JSON. Empty until they are known.
  var battery: [String: [UInt8]] = [:]
  private let bundle: [UInt8]
  private let given: [String: [UInt8]]
  private var found: [String: [UInt8]] = [:]

  init(_ options: IntakeOptions) {
    deviceUuid = options.deviceUuid?.uuidString.lowercased() ?? ""
    bundle = Json.print(options.bundleIdentifier)
    given = jsonParts(options.device)
  }

  func readDevice() {
    found = findDevice()
  }

  /// The sender as a JSON object.
  ///
  /// - Parameters:
  /// - user: if empty, the UUID of the device is sent as the user
  /// - isOfFeedback: whether to include all properties of the device, not only those of log events
  func sender(user: String, isOfFeedback: Bool) -> [UInt8] {
    var device = found.merging(battery) { $1 }.merging(given) { $1 }
    if !isOfFeedback { device = device.filter { !feedbackOnlyFields.contains($0.key) } }
    return Json.print(parts: [
      "bundle_identifier": bundle,
      "device": Json.print(parts: device),
      "device_uuid": Json.print(deviceUuid),
      "unique_user_id": Json.print(user.isEmpty ? deviceUuid : user),
    ])
  }
}
