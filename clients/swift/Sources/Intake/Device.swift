import Foundation

#if canImport(UIKit) && !os(watchOS) && !os(tvOS)
  import UIKit
#endif

/// The properties of the device that Foundation knows, by name; each value is JSON. Unknown
/// properties are absent.
func findDevice() -> [String: [UInt8]] {
  var device: [String: Any] = [:]
  device["os"] = osName
  device["os_version"] = osVersion()
  device["supported_abis"] = [architecture]
  #if canImport(Darwin)
    device["device_brand"] = "Apple"
    device["device_model"] = machineModel()
    device["is_emulator"] = isSimulator
    let bundle = Bundle.main.infoDictionary ?? [:]
    device["bundle_name"] = bundle["CFBundleDisplayName"] ?? bundle["CFBundleName"]
    device["version_name"] = bundle["CFBundleShortVersionString"]
    // The version may be several numbers, such as 1.2.3, but `version_code` must be an integer.
    device["version_code"] = (bundle["CFBundleVersion"] as? String).flatMap { Int($0) }
    #if !os(macOS)
      device["first_install_time"] = firstInstallTime()
    #endif
  #endif
  return jsonParts(device)
}

/// Converts properties to JSON. Leaves out properties whose value is not known, because an absent
/// property is better than a wrong value.
func jsonParts(_ device: [String: Any]) -> [String: [UInt8]] {
  var parts: [String: [UInt8]] = [:]
  for (name, value) in device {
    var text: [UInt8] = []
    let isJson = Json.append(value, to: &text)
    if isJson && !unknownValues.contains(text) { parts[name] = text }
  }
  return parts
}

private let unknownValues = ["null", "\"\"", "\"unknown\""].map { Array($0.utf8) }

private var osName: String {
  #if os(iOS)
    return "iOS"
  #elseif os(macOS)
    return "macOS"
  #elseif os(tvOS)
    return "tvOS"
  #elseif os(watchOS)
    return "watchOS"
  #elseif os(visionOS)
    return "visionOS"
  #elseif os(Linux)
    return "Linux"
  #elseif os(Android)
    return "Android"
  #else
    return "unknown"
  #endif
}

private func osVersion() -> String {
  #if canImport(Darwin)
    let version = ProcessInfo.processInfo.operatingSystemVersion
    let patch = version.patchVersion == 0 ? "" : ".\(version.patchVersion)"
    return "\(version.majorVersion).\(version.minorVersion)\(patch)"
  #else
    return ProcessInfo.processInfo.operatingSystemVersionString
  #endif
}

private var architecture: String {
  #if arch(arm64)
    return "arm64"
  #elseif arch(x86_64)
    return "x86_64"
  #elseif arch(arm)
    return "arm"
  #else
    return "unknown"
  #endif
}

#if canImport(Darwin)
  private var isSimulator: Bool {
    #if targetEnvironment(simulator)
      return true
    #else
      return false
    #endif
  }

  /// The model, such as `iPhone16,2`.
  private func machineModel() -> String {
    if let model = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] {
      return model
    }
    #if os(macOS)
      return readSystem("hw.model")
    #else
      return readSystem("hw.machine")
    #endif
  }

  private func readSystem(_ name: String) -> String {
    var size = 0
    guard sysctlbyname(name, nil, &size, nil, 0) == 0, size > 0 else { return "" }
    var value = [UInt8](repeating: 0, count: size)
    guard sysctlbyname(name, &value, &size, nil, 0) == 0 else { return "" }
    return String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The time when the app was installed: at that time iOS created the folder for documents.
  private func firstInstallTime() -> Date? {
    let folder = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
    return try? folder?.resourceValues(forKeys: [.creationDateKey]).creationDate
  }
#endif

#if canImport(UIKit) && !os(watchOS) && !os(tvOS)
  /// Reads the state of the battery; only the main thread may do this. Switches battery monitoring
  /// on, because otherwise the system does not report the state.
  @MainActor func readBattery() -> [String: [UInt8]] {
    let device = UIDevice.current
    device.isBatteryMonitoringEnabled = true
    var battery: [String: Any] = [:]
    if device.batteryLevel >= 0 {
      battery["battery_level"] = (Double(device.batteryLevel) * 1000).rounded() / 10
    }
    switch device.batteryState {
    case .unplugged: battery["battery_state"] = "unplugged"
    case .charging: battery["battery_state"] = "charging"
    case .full: battery["battery_state"] = "full"
    default: break
    }
    return jsonParts(battery)
  }
#else
  func readBattery() async -> [String: [UInt8]] { [:] }
#endif
